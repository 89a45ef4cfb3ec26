//! Covariant, but not through `&mut`.
use dwell::SmallBox;

fn set<'a>(target: &mut SmallBox<&'a str>, text: &'a str) {
    **target = text;
}

fn main() {
    let mut target: SmallBox<&'static str> = SmallBox::new("static");
    {
        let local = String::from("local");
        set(&mut target, &local);
    }
    println!("{target}");
}
