//! Loads a font (the argument) and lays out a page.
use fontdue::layout::{CoordinateSystem, Layout, LayoutSettings, TextStyle};
use fontdue::{Font, FontSettings};

fn main() {
    let bytes = std::fs::read(std::env::args().nth(1).expect("a font")).unwrap();
    let fonts: Vec<Font> = (0..10).map(|_| Font::from_bytes(bytes.as_slice(), FontSettings::default()).unwrap()).collect();
    let mut layout = Layout::new(CoordinateSystem::PositiveYUp);
    let mut glyphs = 0;
    for line in 0..400 {
        layout.reset(&LayoutSettings { max_width: Some(600.0), ..LayoutSettings::default() });
        let text = format!("{line}: The quick brown fox jumps over the lazy dog. ").repeat(8);
        layout.append(&fonts, &TextStyle::new(&text, 17.0, line % 10));
        glyphs += layout.glyphs().len();
    }
    let pixels: usize = ('a'..='z').map(|letter| fonts[0].rasterize(letter, 40.0).1.len()).sum();
    println!("{glyphs} {pixels}");
}
