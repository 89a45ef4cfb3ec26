//! Exports spans to memory.
use opentelemetry::KeyValue;
use opentelemetry::trace::{Span, Tracer, TracerProvider};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider};

fn main() {
    let exporter = InMemorySpanExporter::default();
    let provider = SdkTracerProvider::builder().with_simple_exporter(exporter.clone()).build();
    let tracer = provider.tracer("load");
    for at in 0..20_000_i64 {
        let mut span = tracer.start(format!("request {}", at % 50));
        span.set_attribute(KeyValue::new("number", at));
        span.set_attribute(KeyValue::new("path", format!("/pages/{at}")));
        if at % 10 == 0 {
            span.add_event("retried", vec![KeyValue::new("count", at % 3)]);
        }
        span.end();
    }
    println!("{}", exporter.get_finished_spans().unwrap().len());
}
