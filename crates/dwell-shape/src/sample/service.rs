//! The operations and resources of a service, and the service itself.

use super::draw::{ERRORS, INPUT_MEMBERS, OPERATION_TEXT, OUTPUT_MEMBERS, SERVICE_TEXT, SHAPE_TEXT, chance, pick};
use super::model::Model;
use super::node::Map;
use super::traits::{endpoint_test, free_form, iam_action, parameters, reference, rule};
use super::words::{ACTIONS, NOUNS, PARTS, VERBS};

impl Model {
    pub(super) fn operation(&mut self) -> String {
        let verb = pick(&mut self.rng, VERBS);
        let (noun, name) = loop {
            let noun = self.name("");
            let name = format!("{verb}{noun}");
            // A shape may have this name already: `ListList` is also the name of a list.
            if self.names.insert(name.clone()) {
                break (noun, name);
            }
        };
        let (input, output) = (format!("{name}Request"), format!("{name}Response"));

        let mut labels = Vec::new();
        let members = self.members(&INPUT_MEMBERS, 0.98, 0.44, &mut labels);
        let mut traits = Map::default();
        self.document_shape(&mut traits, 0.12, &SHAPE_TEXT);
        traits.maybe(&mut self.rng, 0.92, "smithy.api#input", |_| Map::default());
        self.add(&input, Map::default().with("type", "structure").with("members", members).traits(traits));
        let has_output = chance(&mut self.rng, 0.9);
        if has_output {
            let mut traits = Map::default();
            traits.maybe(&mut self.rng, 0.92, "smithy.api#output", |_| Map::default());
            self.structure(&output, &OUTPUT_MEMBERS, 0.96, 0.175, traits);
        }

        let mut traits = Map::default();
        traits.maybe(&mut self.rng, 0.033, "aws.iam#iamAction", |rng| iam_action(rng, &noun));
        traits.maybe(&mut self.rng, 0.016, "aws.iam#actionPermissionDescription", |rng| {
            format!("Grants permission to {} a {}", pick(rng, ACTIONS), pick(rng, NOUNS))
        });
        self.document_shape(&mut traits, 1.0, &OPERATION_TEXT);
        if chance(&mut self.rng, 0.107) {
            let examples: Vec<Map> = (0..self.rng.usize(1..3)).map(|_| self.example(&noun)).collect();
            traits.add("smithy.api#examples", examples);
        }
        if self.http {
            let uri = labels.iter().fold(format!("/{}", self.namespace), |uri, label| uri + "/{" + label + "}");
            let method = pick(&mut self.rng, &["GET", "POST", "PUT", "DELETE", "PATCH"]);
            let http = Map::default().with("method", method).with("uri", uri).with("code", 200);
            traits.add("smithy.api#http", http);
        }
        traits.maybe(&mut self.rng, 0.1, "smithy.api#idempotent", |_| Map::default());
        traits.maybe(&mut self.rng, 0.18, "smithy.api#paginated", |rng| {
            let tokens = Map::default().with("inputToken", "nextToken").with("outputToken", "nextToken");
            tokens.with("items", pick(rng, NOUNS)).with("pageSize", "maxResults")
        });
        traits.maybe(&mut self.rng, 0.1, "smithy.api#readonly", |_| Map::default());
        traits.maybe(&mut self.rng, 0.01, "smithy.api#tags", |rng| vec![pick(rng, PARTS)]);

        let output = if has_output { self.absolute(&output) } else { "smithy.api#Unit".to_owned() };
        let shape = Map::default().with("type", "operation").with("input", reference(&self.absolute(&input)));
        let mut shape = shape.with("output", reference(&output));
        let mut errors = self.errors.clone();
        self.rng.shuffle(&mut errors);
        errors.truncate(ERRORS.draw(&mut self.rng));
        if !errors.is_empty() {
            shape.add("errors", errors.iter().map(|name| reference(&self.absolute(name))).collect::<Vec<_>>());
        }
        self.add(&name, shape.traits(traits));
        name
    }

    /// Returns an example of a call, with free-form objects as input and output.
    pub(super) fn example(&mut self, noun: &str) -> Map {
        let title = format!("To {} a {}", pick(&mut self.rng, ACTIONS), noun.to_lowercase());
        let text = self.text(90);
        let mut object = |depth| free_form(&mut self.rng, depth);
        let (input, output) = (object(1), object(2));
        Map::default().with("title", title).with("documentation", text).with("input", input).with("output", output)
    }

    pub(super) fn resource(&mut self, operations: &[String]) -> String {
        let name = self.name("Resource");
        let mut shape = Map::default().with("type", "resource");
        if chance(&mut self.rng, 0.85) {
            let id = self.member_name();
            let target = self.string_target();
            shape.add("identifiers", Map::default().with(id, target));
        }
        for (part, rate) in [("create", 0.54), ("read", 0.68), ("update", 0.5), ("delete", 0.6), ("list", 0.7)] {
            let operation = &operations[self.rng.usize(..operations.len())];
            let operation = reference(&self.absolute(operation));
            shape.maybe(&mut self.rng, rate, part, |_| operation);
        }
        let mut traits = Map::default();
        let noun = pick(&mut self.rng, NOUNS);
        traits.maybe(&mut self.rng, 0.57, "aws.api#arn", |_| {
            Map::default().with("template", format!("{noun}/{{{noun}Id}}"))
        });
        traits.maybe(&mut self.rng, 0.27, "aws.cloudformation#cfnResource", |_| Map::default());
        self.document_shape(&mut traits, 0.13, &SHAPE_TEXT);
        self.add(&name, shape.traits(traits));
        name
    }

    pub(super) fn service(&mut self, operations: &[String], resources: &[String]) {
        let id = self.service.clone();
        let host = self.namespace.clone();
        let mut service = Map::default().with("sdkId", id.as_str());
        service.maybe(&mut self.rng, 0.96, "arnNamespace", |_| host.as_str());
        service.maybe(&mut self.rng, 0.76, "cloudFormationName", |_| id.as_str());
        service.maybe(&mut self.rng, 0.87, "cloudTrailEventSource", |_| format!("{host}.example.com"));
        let version = self.version.clone();
        service.maybe(&mut self.rng, 0.16, "docId", |_| format!("{host}-{version}"));
        service.maybe(&mut self.rng, 0.82, "endpointPrefix", |_| host.as_str());

        let mut traits = Map::default().with("aws.api#service", service);
        traits.add("aws.auth#sigv4", Map::default().with("name", host.as_str()));
        let protocol = if self.http { "aws.protocols#restJson1" } else { "aws.protocols#awsJson1_1" };
        traits.add(protocol, Map::default());
        self.document_shape(&mut traits, 1.0, &SERVICE_TEXT);
        traits.add("smithy.api#title", format!("Example {id}"));
        traits.maybe(&mut self.rng, 0.24, "smithy.api#xmlNamespace", |_| {
            Map::default().with("uri", format!("http://{host}.example.com/doc/{version}/"))
        });
        let rules = (0..self.rng.usize(1..4)).map(|_| rule(&mut self.rng, 3)).collect::<Vec<_>>();
        let rule_set = Map::default().with("version", "1.0").with("parameters", parameters()).with("rules", rules);
        traits.add("smithy.rules#endpointRuleSet", rule_set);
        let tests = (0..self.rng.usize(4..20)).map(|_| endpoint_test(&mut self.rng, &host)).collect::<Vec<_>>();
        traits.add("smithy.rules#endpointTests", Map::default().with("testCases", tests).with("version", "1.0"));

        let list = |model: &Self, names: &[String]| {
            names.iter().map(|name| reference(&model.absolute(name))).collect::<Vec<_>>()
        };
        let mut shape = Map::default().with("type", "service").with("version", version);
        shape.add("operations", list(self, operations));
        if !resources.is_empty() {
            shape.add("resources", list(self, resources));
        }
        self.add(&id, shape.with("traits", traits));
    }
}
