//! Sends spans to an OpenTelemetry collector, where a standard variable names one.

use super::{BoxedLayer, ours};
use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::SpanExporter;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::Layer;

/// The standard variables, either of which switches it on.
const ENDPOINTS: [&str; 2] = ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"];

pub struct Collector(SdkTracerProvider);

impl Collector {
    pub fn end(self) {
        if let Err(error) = self.0.shutdown() {
            eprintln!("countersign: spans could not be sent to the collector: {error}");
        }
    }
}

pub fn wanted() -> Option<(BoxedLayer, Collector)> {
    ENDPOINTS.iter().find_map(|name| super::variable(name))?;
    // The exporter needs a default provider of the process; it may be set already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let exporter = match SpanExporter::builder().with_http().build() {
        Ok(exporter) => exporter,
        Err(error) => {
            eprintln!("countersign: no spans are sent to the collector: {error}");
            return None;
        }
    };
    let resource = Resource::builder().with_service_name("countersign").build();
    let provider = SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource).build();
    let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("countersign"));
    Some((Box::new(layer.with_filter(ours(LevelFilter::DEBUG))), Collector(provider)))
}
