//! A small exporter for Prometheus. A game takes `metrics-exporter-prometheus`, or another one.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use metrics::{
    Counter, CounterFn, Gauge, GaugeFn, Histogram, HistogramFn, Key, KeyName, Metadata, Recorder,
    SharedString, Unit,
};

/// The numbers of this process.
#[derive(Clone, Debug, Default)]
pub(crate) struct Numbers {
    values: Arc<Mutex<BTreeMap<String, f64>>>,
}

impl Numbers {
    /// From now on, they are counted here.
    pub(crate) fn install() -> Self {
        let numbers = Numbers::default();
        // There is one node in a process.
        let _ = metrics::set_global_recorder(numbers.clone());
        numbers
    }

    fn change(&self, name: &str, change: impl FnOnce(&mut f64)) {
        let mut values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        change(values.entry(name.to_owned()).or_default());
    }

    /// As Prometheus reads them.
    pub(crate) fn render(&self) -> String {
        let mut text = String::new();
        for (name, value) in &*self.values.lock().unwrap_or_else(PoisonError::into_inner) {
            let _ = writeln!(text, "{name} {value}");
        }
        text
    }

    fn number(&self, key: &Key) -> Arc<Number> {
        let labels = key
            .labels()
            .map(|it| format!("{}=\"{}\"", it.key(), it.value()));
        let labels = labels.collect::<Vec<_>>().join(",");
        let end = if labels.is_empty() {
            labels
        } else {
            format!("{{{labels}}}")
        };
        Arc::new(Number {
            numbers: self.clone(),
            name: key.name().to_owned(),
            end,
        })
    }
}

struct Number {
    numbers: Numbers,
    name: String,
    end: String,
}

impl Number {
    fn change(&self, what: &str, change: impl FnOnce(&mut f64)) {
        let Number { numbers, name, end } = self;
        numbers.change(&format!("{name}{what}{end}"), change);
    }
}

#[expect(clippy::cast_precision_loss, reason = "Prometheus has floats")]
impl CounterFn for Number {
    fn increment(&self, by: u64) {
        self.change("", |value| *value += by as f64);
    }

    fn absolute(&self, to: u64) {
        self.change("", |value| *value = to as f64);
    }
}

impl GaugeFn for Number {
    fn increment(&self, by: f64) {
        self.change("", |value| *value += by);
    }

    fn decrement(&self, by: f64) {
        self.change("", |value| *value -= by);
    }

    fn set(&self, to: f64) {
        self.change("", |value| *value = to);
    }
}

impl HistogramFn for Number {
    fn record(&self, value: f64) {
        self.change("_sum", |sum| *sum += value);
        self.change("_count", |count| *count += 1.0);
    }
}

impl Recorder for Numbers {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        Counter::from_arc(self.number(key))
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::from_arc(self.number(key))
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::from_arc(self.number(key))
    }
}
