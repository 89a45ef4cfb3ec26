//! Keeps many templates, and renders each.

use tera::{Context, Tera};

fn main() {
    let count: usize = std::env::args().nth(1).map_or(10, |text| text.parse().expect("a number"));
    let mut tera = Tera::default();
    for n in 0..count {
        let text = format!(
            "<h1>{{{{ title | upper }}}}</h1>{{% for user in users %}}<li class=\"c{n}\">{{{{ user.name }}}}{{% if user.age > {n} %}} old\
             {{% elif user.age == 3 %}} three{{% else %}} young{{% endif %}}</li>{{% endfor %}}{{# none #}}{{% set x = {n} + 1 %}}{{{{ x }}}}"
        );
        tera.add_raw_template(&format!("page{n}.html"), &text).expect("it is a template");
    }
    let mut context = Context::new();
    context.insert("title", "users");
    context.insert("users", &[std::collections::HashMap::from([("name", "a"), ("age", "3")])]);
    let shown: usize = tera.get_template_names().count();
    println!("{shown} templates");
}
