//! Pixels in memory, which embedded-graphics draws on.

use std::convert::Infallible;
use std::error::Error;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use embedded_graphics::pixelcolor::Rgb888;
use embedded_graphics::prelude::*;
use embedded_graphics::primitives::Rectangle;

pub(crate) struct Canvas {
    size: Size,
    /// Row by row, `0x00RRGGBB`, as in softbuffer.
    pixels: Vec<u32>,
}

impl Canvas {
    pub(crate) fn new(size: Size) -> Self {
        Canvas {
            size,
            pixels: vec![0; index(size.width) * index(size.height)],
        }
    }

    /// The rows from the top.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &[u32]> {
        self.pixels.chunks_exact(index(self.size.width).max(1))
    }

    pub(crate) fn save(&self, path: &Path) -> Result<(), Box<dyn Error>> {
        let file = BufWriter::new(File::create(path)?);
        let mut encoder = png::Encoder::new(file, self.size.width, self.size.height);
        encoder.set_color(png::ColorType::Rgb);
        let bytes: Vec<u8> = self
            .pixels
            .iter()
            .flat_map(|pixel| {
                let [_, red, green, blue] = pixel.to_be_bytes();
                [red, green, blue]
            })
            .collect();
        encoder.write_header()?.write_image_data(&bytes)?;
        Ok(())
    }
}

impl OriginDimensions for Canvas {
    fn size(&self) -> Size {
        self.size
    }
}

impl DrawTarget for Canvas {
    type Color = Rgb888;
    type Error = Infallible;

    fn draw_iter<I>(&mut self, pixels: I) -> Result<(), Infallible>
    where
        I: IntoIterator<Item = Pixel<Rgb888>>,
    {
        let area = self.bounding_box();
        for Pixel(at, colour) in pixels {
            if area.contains(at) {
                let (x, y) = (at.x.unsigned_abs(), at.y.unsigned_abs());
                self.pixels[index(y) * index(self.size.width) + index(x)] = packed(colour);
            }
        }
        Ok(())
    }

    fn fill_solid(&mut self, area: &Rectangle, colour: Rgb888) -> Result<(), Infallible> {
        let area = area.intersection(&self.bounding_box());
        let width = index(self.size.width).max(1);
        let left = index(area.top_left.x.unsigned_abs());
        let top = index(area.top_left.y.unsigned_abs());
        let rows = self.pixels.chunks_exact_mut(width).skip(top);
        for row in rows.take(index(area.size.height)) {
            row[left..left + index(area.size.width)].fill(packed(colour));
        }
        Ok(())
    }
}

fn packed(colour: Rgb888) -> u32 {
    u32::from_be_bytes([0, colour.r(), colour.g(), colour.b()])
}

/// A number of pixels as an index.
fn index(pixels: u32) -> usize {
    usize::try_from(pixels).expect("32 bits fit")
}
