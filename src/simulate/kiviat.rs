//! Methods compared on several axes at once, as the paper's Kiviat graphs do.

/// One axis: what each method reached, in the order of the methods; more is better.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What it is.
    pub name: &'static str,
    /// A value for each method.
    pub values: Vec<f64>,
}

/// Values scaled to the range over all methods: the best is 1, the worst 0. Where all are equal all are 1.
#[must_use]
pub fn scaled(values: &[f64]) -> Vec<f64> {
    let best = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let worst = values.iter().copied().fold(f64::INFINITY, f64::min);
    let range = best - worst;
    let scale = |value: &f64| if range > 0.0 { (value - worst) / range } else { 1.0 };
    values.iter().map(scale).collect()
}

/// The reciprocal of what is better the less it is; of 0 the largest of the finite ones stands for it, so that it is best.
#[must_use]
pub fn reciprocals(values: &[f64]) -> Vec<f64> {
    let least = values
        .iter()
        .copied()
        .filter(|value| *value > 0.0)
        .fold(f64::INFINITY, f64::min);
    let of = |value: &f64| match *value > 0.0 {
        true => 1.0 / value,
        // Twice as good as the best that is above zero.
        false if least.is_finite() => 2.0 / least,
        false => 1.0,
    };
    values.iter().map(of).collect()
}

/// The area of a method's polygon with axes in this order: it depends on the order.
#[must_use]
pub fn area(axes: &[f64]) -> f64 {
    let n = axes.len();
    let Ok(n) = u32::try_from(n) else { return 0.0 };
    if n < 3 {
        return 0.0;
    }
    let angle = std::f64::consts::TAU / f64::from(n);
    let next = axes.iter().skip(1).chain(axes.first());
    let products: f64 = axes.iter().zip(next).map(|(one, next)| one * next).sum();
    0.5 * libm::sin(angle) * products
}
