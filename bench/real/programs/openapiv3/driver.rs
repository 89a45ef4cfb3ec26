//! Descriptions of four services that the package ships for its tests, 1.3 MB of JSON, loaded and kept in memory.

use openapiv3::OpenAPI;

static INPUTS: [&str; 4] = [
    include_str!("../openapiv3/fixtures/slack.json"),
    include_str!("../openapiv3/fixtures/twilio.json"),
    include_str!("../openapiv3/fixtures/quayio.json"),
    include_str!("../openapiv3/fixtures/fitbit.json"),
];

pub fn workload(name: &str) -> Box<dyn FnMut() -> u64> {
    match name {
        "load four services" => Box::new(|| {
            let load = |text: &&str| serde_json::from_str::<OpenAPI>(text).expect("the input is a description");
            let services: Vec<OpenAPI> = INPUTS.iter().map(load).collect();
            services.iter().map(|service| service.operations().count() as u64).sum()
        }),
        _ => panic!("no workload {name}"),
    }
}
