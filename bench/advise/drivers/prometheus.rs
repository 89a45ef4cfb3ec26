//! A server's metrics with many labels, gathered and printed several times.
use prometheus::{Encoder as _, HistogramOpts, HistogramVec, IntCounterVec, Opts, Registry, TextEncoder};

fn main() {
    let registry = Registry::new();
    let requests = IntCounterVec::new(Opts::new("requests_total", "Requests"), &["method", "path", "status"]).unwrap();
    let seconds = HistogramVec::new(HistogramOpts::new("request_seconds", "Time of a request"), &["method", "path"]).unwrap();
    registry.register(Box::new(requests.clone())).unwrap();
    registry.register(Box::new(seconds.clone())).unwrap();
    let paths: Vec<String> = (0..3_000).map(|number| format!("/api/v1/items/{number}")).collect();
    let mut bytes = 0;
    for round in 0..3_usize {
        for (number, path) in paths.iter().enumerate() {
            for method in ["GET", "POST"] {
                for status in ["200", "404", "500"] {
                    requests.with_label_values(&[method, path, status]).inc();
                }
                seconds.with_label_values(&[method, path]).observe(((number + round) % 100) as f64 / 40.0);
            }
        }
        let mut text = Vec::new();
        TextEncoder::new().encode(&registry.gather(), &mut text).unwrap();
        bytes += text.len();
    }
    println!("{bytes}");
}
