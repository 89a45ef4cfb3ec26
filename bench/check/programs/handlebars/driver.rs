//! Registers templates, and renders each with data.

use handlebars::Handlebars;
use serde_json::json;

fn main() {
    let rounds: usize = std::env::args().nth(1).and_then(|rounds| rounds.parse().ok()).unwrap_or(1);
    let mut registry = Handlebars::new();
    for at in 0..120 {
        let text = format!(
            "<h1>{{{{title}}}} {at}</h1>{{{{#each items}}}}<li class=\"{{{{kind}}}}\">{{{{name}}}}{{{{#if last}}}}!{{{{/if}}}}</li>\
             {{{{/each}}}}{{{{#*inline \"part\"}}}}part {at}{{{{/inline}}}}{{{{#> part}}}}nothing{{{{/part}}}}{{{{> part}}}}"
        );
        registry.register_template_string(&format!("page-{at}"), text).expect("a template");
    }
    let items: Vec<_> = (0..20).map(|at| json!({ "name": format!("item {at}"), "kind": "row", "last": at == 19 })).collect();
    let data = json!({ "title": "Pages", "items": items });
    let mut bytes = 0;
    for _ in 0..rounds {
        for at in 0..120 {
            bytes += registry.render(&format!("page-{at}"), &data).expect("a page").len();
        }
    }
    println!("{bytes}");
}
