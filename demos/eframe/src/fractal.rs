//! Pictures of the Mandelbrot set, which take a while to compute.

use eframe::egui::Color32;

pub(crate) const WIDTH: usize = 160;
pub(crate) const HEIGHT: usize = 100;

/// After how many steps a point is assumed to stay.
const MOST: u32 = 2_000;

/// Names of places, where they are, and how wide.
pub(crate) const PLACES: [(&str, [f64; 2], f64); 8] = [
    ("Seahorse valley", [-0.745, 0.113], 0.02),
    ("Elephant valley", [0.282, 0.0105], 0.03),
    ("Triple spiral", [-0.0885, 0.6545], 0.012),
    ("Whole set", [-0.6, 0.0], 3.4),
    ("Needle", [-1.768, 0.0015], 0.02),
    ("Double hook", [-0.7269, 0.1889], 0.008),
    ("Antenna", [-0.1592, 1.0338], 0.03),
    ("Dragon", [-0.8011, 0.1686], 0.03),
];

/// The part of the plane that a picture shows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) at: [f64; 2],
    pub(crate) width: f64,
    /// Samples of a pixel, along each side.
    pub(crate) samples: u8,
}

/// The rows of the picture, from the top; each is computed on demand.
pub(crate) fn rows(plan: Plan) -> impl Iterator<Item = Vec<Color32>> {
    (0..HEIGHT).map(move |y| (0..WIDTH).map(|x| plan.pixel(x, y)).collect())
}

impl Plan {
    fn pixel(&self, x: usize, y: usize) -> Color32 {
        let mut sum = [0.0_f32; 3];
        for sample_y in 0..self.samples {
            for sample_x in 0..self.samples {
                let colour = self.sample(
                    coordinate(x, sample_x, self.samples),
                    coordinate(y, sample_y, self.samples),
                );
                for (sum, channel) in sum.iter_mut().zip(colour) {
                    *sum += channel;
                }
            }
        }
        let count = f32::from(self.samples) * f32::from(self.samples);
        let [red, green, blue] = sum.map(|channel| byte(channel / count));
        Color32::from_rgb(red, green, blue)
    }

    fn sample(&self, x: f64, y: f64) -> [f32; 3] {
        let step = self.width / coordinate(WIDTH, 0, 1);
        let real = self.at[0] + (x - coordinate(WIDTH, 0, 1) / 2.0) * step;
        let imaginary = self.at[1] - (y - coordinate(HEIGHT, 0, 1) / 2.0) * step;
        match escape(real, imaginary) {
            Some(steps) => shade(steps),
            None => [0.03, 0.03, 0.06],
        }
    }
}

/// After how many steps the point leaves; `None` if it stays.
fn escape(real: f64, imaginary: f64) -> Option<f32> {
    let (mut x, mut y) = (0.0_f64, 0.0_f64);
    for steps in 0..MOST {
        let (square_x, square_y) = (x * x, y * y);
        if square_x + square_y > 256.0 {
            let beyond = (square_x + square_y).ln() / 256.0_f64.ln();
            #[expect(
                clippy::cast_possible_truncation,
                reason = "a colour is as precise as an `f32`"
            )]
            let smooth = (f64::from(steps) - beyond.log2()) as f32;
            return Some(smooth.max(0.0));
        }
        (x, y) = (square_x - square_y + real, 2.0 * x * y + imaginary);
    }
    None
}

/// Blue, white and amber, by turns.
fn shade(steps: f32) -> [f32; 3] {
    let turn = steps.sqrt() * 0.55;
    [0.0_f32, 0.55, 1.2].map(|lag| 0.5 - 0.5 * (turn + 3.6 + lag).cos())
}

/// A pixel and a sample in it as a coordinate.
#[expect(clippy::cast_precision_loss, reason = "pixels are few")]
fn coordinate(pixel: usize, sample: u8, samples: u8) -> f64 {
    pixel as f64 + f64::from(sample) / f64::from(samples)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it saturates"
)]
fn byte(share: f32) -> u8 {
    (share * 255.0).round() as u8
}
