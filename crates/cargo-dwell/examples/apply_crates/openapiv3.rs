//! Keeps many descriptions of interfaces.

use openapiv3::OpenAPI;
use serde_json::json;

fn main() {
    let count: usize = std::env::args().nth(1).map_or(10, |text| text.parse().expect("a number"));
    let mut all: Vec<OpenAPI> = Vec::new();
    for n in 0..count {
        let operation = json!({
            "operationId": format!("get{n}"), "tags": ["users"], "summary": "Returns a user.",
            "parameters": [
                {"name": "id", "in": "path", "required": true, "schema": {"type": "integer", "format": "int64"}},
                {"name": "limit", "in": "query", "schema": {"type": "integer", "minimum": 1, "maximum": 100}}
            ],
            "responses": {
                "200": {"description": "the user", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/User"}}}},
                "404": {"description": "there is none"}
            }
        });
        let value = json!({
            "openapi": "3.0.3", "info": {"title": format!("api {n}"), "version": "1.0"},
            "paths": {format!("/users/{n}/{{id}}"): {"get": operation.clone(), "delete": operation}},
            "components": {"schemas": {"User": {"type": "object", "required": ["name"], "properties": {
                "name": {"type": "string", "maxLength": 80}, "age": {"type": "integer"},
                "tags": {"type": "array", "items": {"type": "string"}}, "address": {"$ref": "#/components/schemas/Address"}
            }}, "Address": {"type": "object", "properties": {"city": {"type": "string"}, "zip": {"type": "string"}}}}}
        });
        all.push(serde_json::from_value(value).expect("it is a description"));
    }
    let paths: usize = all.iter().map(|api| api.paths.paths.len()).sum();
    println!("{paths} paths");
}
