//! The window and its content.

use std::error::Error;
use std::num::NonZeroU32;
use std::rc::Rc;

use embedded_graphics::prelude::*;
use softbuffer::{Context, Surface};
use winit::dpi::{LogicalSize, PhysicalSize};
use winit::event_loop::ActiveEventLoop;
use winit::window::Window;

use crate::canvas::Canvas;
use crate::draw;
use crate::world::Button;

pub(crate) struct View {
    window: Rc<Window>,
    surface: Surface<Rc<Window>, Rc<Window>>,
    canvas: Canvas,
    /// How many pixels of the window a pixel of the canvas is wide and high.
    scale: u32,
    /// Where the mouse is, in pixels of the window.
    pub(crate) pointer: (f64, f64),
}

impl View {
    pub(crate) fn new(event_loop: &ActiveEventLoop) -> Result<Self, Box<dyn Error>> {
        let attributes = Window::default_attributes()
            .with_title("framestep: a window that sleeps")
            .with_inner_size(LogicalSize::new(960, 540))
            .with_min_inner_size(LogicalSize::new(640, 360));
        let window = Rc::new(event_loop.create_window(attributes)?);
        let context = Context::new(window.clone())?;
        let surface = Surface::new(&context, window.clone())?;
        let size = window.inner_size();
        let mut view = View {
            window,
            surface,
            canvas: Canvas::new(Size::zero()),
            scale: 1,
            pointer: (0.0, 0.0),
        };
        view.resize(size)?;
        view.request_redraw();
        Ok(view)
    }

    pub(crate) fn resize(&mut self, size: PhysicalSize<u32>) -> Result<(), Box<dyn Error>> {
        let (Some(width), Some(height)) =
            (NonZeroU32::new(size.width), NonZeroU32::new(size.height))
        else {
            // Minimised.
            return Ok(());
        };
        self.surface.resize(width, height)?;
        self.scale = if self.window.scale_factor() < 1.5 {
            1
        } else {
            2
        };
        // Rounded up: the last row and column may be cut.
        let (width, height) = (
            size.width.div_ceil(self.scale),
            size.height.div_ceil(self.scale),
        );
        self.canvas = Canvas::new(Size::new(width, height));
        Ok(())
    }

    pub(crate) fn request_redraw(&self) {
        self.window.request_redraw();
    }

    pub(crate) fn canvas(&mut self) -> &mut Canvas {
        &mut self.canvas
    }

    pub(crate) fn button_below_pointer(&self) -> Option<Button> {
        let (x, y) = self.pointer;
        let scale = f64::from(self.scale);
        #[expect(clippy::cast_possible_truncation, reason = "it saturates")]
        let at = Point::new((x / scale) as i32, (y / scale) as i32);
        Button::ALL
            .into_iter()
            .find(|&button| draw::button_area(button).contains(at))
    }

    /// Copies the canvas into the window.
    pub(crate) fn present(&mut self) -> Result<(), Box<dyn Error>> {
        let mut buffer = self.surface.buffer_mut()?;
        let width = usize::try_from(buffer.width().get())?;
        let scale = usize::try_from(self.scale)?;
        let mut sources = self.canvas.rows();
        for group in buffer.chunks_mut(width * scale) {
            let Some(source) = sources.next() else {
                break;
            };
            for row in group.chunks_mut(width) {
                for (pixels, &source) in row.chunks_mut(scale).zip(source) {
                    pixels.fill(source);
                }
            }
        }
        self.window.pre_present_notify();
        buffer.present()?;
        Ok(())
    }
}
