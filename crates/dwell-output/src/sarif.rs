//! Findings as SARIF 2.1.0, which code scanning and editors show at the lines.

use serde_json::{Value, json};

/// A finding at a line.
#[derive(Clone, Debug, Default)]
pub struct Found<'f> {
    /// The identifier of its rule.
    pub rule: &'f str,
    /// Whether it only advises.
    pub is_note: bool,
    /// What was found.
    pub text: String,
    /// The file, relative to the root of the source, and the line.
    pub place: Option<(String, u32)>,
}

/// Returns the document. A rule has an identifier and a text.
pub fn document<'f>(rules: &[(&str, &str)], found: impl Iterator<Item = Found<'f>>) -> Value {
    let rule = |(id, text): &(&str, &str)| json!({ "id": id, "shortDescription": { "text": text } });
    let result = |found: Found<'_>| {
        let level = if found.is_note { "note" } else { "warning" };
        let mut result = json!({ "ruleId": found.rule, "level": level, "message": { "text": found.text } });
        if let Some((file, line)) = found.place {
            let place = json!({ "artifactLocation": { "uri": file, "uriBaseId": "%SRCROOT%" }, "region": { "startLine": line.max(1) } });
            result["locations"] = json!([{ "physicalLocation": place }]);
        }
        result
    };
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "cargo-dwell",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules.iter().map(rule).collect::<Vec<_>>(),
            } },
            "results": found.map(result).collect::<Vec<_>>(),
        }],
    })
}
