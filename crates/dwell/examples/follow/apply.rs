//! Applies the patches of suggestions to Rust source.

use super::Result;

/// Rust source with one field, variant or bracket on each line.
#[derive(Clone)]
pub(super) struct Source {
    lines: Vec<String>,
}

/// The lines of a struct or enum, and whether it has type parameters.
struct Block {
    first: usize,
    last: usize,
    is_generic: bool,
}

impl Source {
    /// Creates a source from text that contains only types, with one field on each line.
    pub(super) fn of_types(text: &str) -> Self {
        Self { lines: text.lines().map(Into::into).collect() }
    }

    /// Creates a source from the types in a text, without comments, functions and tests.
    pub(super) fn new(text: &str) -> Self {
        let mut lines: Vec<String> = Vec::new();
        // The number of open brackets, in total and of an attribute that may take several lines.
        let (mut depth, mut attribute) = (0, 0);
        let mut is_skipped = false;
        for line in text.lines() {
            let trimmed = line.trim();
            if trimmed.starts_with("//") || trimmed.is_empty() {
                continue;
            }
            let count = |bracket| trimmed.matches(bracket).count();
            let (opened, closed) = (count(['{', '(', '[']), count(['}', ')', ']']));
            if attribute > 0 || trimmed.starts_with("#[cfg") || trimmed.starts_with("#!") {
                attribute = (attribute + opened).saturating_sub(closed);
                continue;
            }
            if depth == 0 {
                is_skipped =
                    ["impl", "mod ", "pub const", "use ", "fn "].iter().any(|start| trimmed.starts_with(start));
            }
            depth = (depth + opened).saturating_sub(closed);
            if !is_skipped {
                lines.push(line.into());
            }
        }
        Self { lines }
    }

    /// Changes the lists of derived traits.
    pub(super) fn derive(&mut self, change: impl Fn(&str) -> String) {
        for line in &mut self.lines {
            if let Some(list) = line.trim().strip_prefix("#[derive(").and_then(|rest| rest.strip_suffix(")]")) {
                *line = format!("#[derive({})]", change(list));
            }
        }
    }

    pub(super) fn text(&self) -> String {
        self.lines.join("\n")
    }

    /// Applies a patch.
    pub(super) fn apply(&mut self, patch: &str) -> Result<()> {
        let mut definition = "";
        let mut old: Vec<&str> = Vec::new();
        // The instances of a generic type share one definition in the source.
        let mut done: Vec<(&str, &str)> = Vec::new();
        for line in patch.lines() {
            if let Some(head) = line.strip_prefix("struct ").or_else(|| line.strip_prefix("enum ")) {
                definition = head.split([' ', '<']).next().unwrap_or_default();
                old.clear();
            } else if let Some(line) = line.strip_prefix('-') {
                old.push(line.trim());
            } else if let Some(line) = line.strip_prefix('+') {
                let line = line.trim();
                if line.starts_with("#[") {
                    continue;
                }
                let now = old.pop().filter(|now| !now.starts_with("#[")).ok_or("a line that replaces none")?;
                let field = line.split([':', '(']).next().unwrap_or_default();
                if !done.contains(&(definition, field)) {
                    done.push((definition, field));
                    self.replace(definition, now, line).map_err(|error| format!("{error}\n{patch}"))?;
                }
                old.clear();
            }
        }
        // The types that must implement `Default`.
        let Some((_, rest)) = patch.split_once("derive `Sparse` and `Default` for ") else { return Ok(()) };
        for name in rest.split(';').next().unwrap_or_default().split(", ") {
            self.derive_sparse(name.split('<').next().unwrap_or(name))?;
        }
        Ok(())
    }

    fn block(&self, name: &str) -> Result<Block> {
        let is_head = |line: &String| {
            let words = line.trim().trim_start_matches("pub(crate) ").trim_start_matches("pub ");
            let rest = words.strip_prefix("struct ").or_else(|| words.strip_prefix("enum "));
            rest.and_then(|rest| rest.strip_prefix(name))
                .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric()))
        };
        let first = self.lines.iter().position(is_head).ok_or_else(|| format!("no type `{name}`"))?;
        let is_one_line = self.lines[first].trim_end().ends_with([';', '}']);
        let end = |line: &String| line.starts_with('}');
        let last = if is_one_line {
            first
        } else {
            first + self.lines[first..].iter().position(end).ok_or("a type without an end")?
        };
        Ok(Block { first, last, is_generic: self.lines[first].contains('<') })
    }

    /// Replaces the line `now` of a patch by `then`: `field: Type,`, `Variant.field: Type,` or `Variant(..), // 20 B`.
    fn replace(&mut self, file: &str, now: &str, then: &str) -> Result<()> {
        let block = self.block(file)?;
        let then = then.split(" // ").next().unwrap_or(then).trim_end_matches(',');
        let Some((field, then_type)) = then.split_once(": ").filter(|(field, _)| !field.contains(['(', '{'])) else {
            return self.box_variant(&block, file, then);
        };
        let now_type = now.trim_end_matches(',').split_once(": ").map_or("", |(_, ty)| ty);
        let (from, to, field) = match field.split_once('.') {
            Some((variant, field)) => {
                let (from, to) = self.variant(&block, variant)?;
                let boxed = format!("{file}{variant}");
                // An earlier suggestion may have moved the fields of the variant to a struct.
                if self.lines[from].contains(&format!("Box<{boxed}>")) {
                    let block = self.block(&boxed)?;
                    (block.first, block.last, field)
                } else {
                    (from, to, field)
                }
            }
            None => (block.first, block.last, field),
        };
        let typed =
            |source: &str| if block.is_generic { then_type.replace(now_type, source) } else { then_type.into() };
        if field.starts_with(|c: char| c.is_ascii_digit()) {
            // Only variants and structs with a single field have unnamed fields here.
            let line = &mut self.lines[from];
            let (open, close) = line.find('(').zip(line.rfind(')')).ok_or("no field without a name")?;
            let inside = line[open + 1..close].to_owned();
            let (head, source) = inside.split_once("pub ").map_or(("", inside.as_str()), |(_, ty)| ("pub ", ty));
            *line = format!("{}({head}{}){}", &line[..open], typed(source), &line[close + 1..]);
            return Ok(());
        }
        let field = field.trim_start_matches("r#");
        for at in from..=to {
            let line = self.lines[at].trim();
            let bare = line.trim_start_matches("pub(crate) ").trim_start_matches("pub ").trim_start_matches("r#");
            let Some(source) = bare.strip_prefix(field).and_then(|rest| rest.strip_prefix(": ")) else { continue };
            let line_end = line.len() - source.len();
            let new = format!("{}{},", &line[..line_end], typed(source.trim_end_matches(',')));
            self.lines[at] = new;
            let was_option = now_type.starts_with("Option<");
            if then_type.starts_with("Sparse<") && was_option {
                self.read_with(at, "nullable");
            } else if then_type.starts_with("Option<Box<") && !was_option {
                self.read_with(at, "option_box");
            }
            return Ok(());
        }
        Err(format!("no field `{field}` in `{file}`").into())
    }

    /// Adds the serde attribute that the patch names.
    fn read_with(&mut self, at: usize, module: &str) {
        let with = format!("with = \"dwell::sparse::{module}\"");
        let mut above = (0..at).rev().take_while(|&line| self.lines[line].trim().starts_with("#[")).collect::<Vec<_>>();
        above.retain(|&line| self.lines[line].contains("#[serde(") && self.lines[line].contains("default"));
        let attribute =
            if above.is_empty() { format!("#[serde(default, {with})]") } else { format!("#[serde({with})]") };
        self.lines.insert(at, attribute);
    }

    /// Returns the first and the last line of a variant.
    fn variant(&self, block: &Block, name: &str) -> Result<(usize, usize)> {
        let is_head = |line: &String| {
            let rest = line.trim().strip_prefix(name);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '(', ',', '{']))
        };
        let lines = &self.lines[block.first + 1..=block.last];
        let first = block.first + 1 + lines.iter().position(is_head).ok_or_else(|| format!("no variant `{name}`"))?;
        if !self.lines[first].trim_end().ends_with('{') {
            return Ok((first, first));
        }
        let end = self.lines[first..].iter().position(|line| line.trim() == "},").ok_or("a variant without an end")?;
        Ok((first, first + end))
    }

    /// Moves the fields of a variant into a box. `then` is `Variant(Box<Type>)`. For a variant with named fields,
    /// `Type` is a new struct of these fields.
    fn box_variant(&mut self, block: &Block, variant: &str, then: &str) -> Result<()> {
        let name = then.split('(').next().unwrap_or_default();
        let (first, last) = self.variant(block, name)?;
        let is_named = self.lines[first].contains('{');
        if !is_named {
            let line = &self.lines[first];
            let (open, close) = line.find('(').zip(line.rfind(')')).ok_or("a variant without fields")?;
            let inside = &line[open + 1..close];
            let inside = if inside.contains(", ") { format!("({inside})") } else { inside.into() };
            self.lines[first] = format!("    {name}(Box<{inside}>),");
            return Ok(());
        }
        let mut fields: Vec<String> = self.lines.drain(first..=last).collect();
        if first == last {
            // The variant is on one line.
            let inside =
                fields[0].split_once('{').and_then(|(_, rest)| rest.rsplit_once('}')).map_or("", |(inside, _)| inside);
            fields = ["", inside, ""].map(String::from).to_vec();
        }
        let fresh = format!("{variant}{name}");
        self.lines.insert(first, format!("    {name}(Box<{fresh}>),"));
        // The new struct derives the same traits as the enum.
        let derive = self.lines[..block.first].iter().rfind(|line| line.starts_with("#[derive("));
        let derive = derive.ok_or_else(|| format!("`{variant}` derives nothing"))?.replace(", Default", "");
        self.lines.push(derive);
        self.lines.push(format!("pub(crate) struct {fresh} {{"));
        self.lines.extend(fields[1..fields.len() - 1].iter().map(|line| line.trim().to_owned()));
        self.lines.push("}".into());
        Ok(())
    }

    fn derive_sparse(&mut self, name: &str) -> Result<()> {
        let block = self.block(name)?;
        let attributes = (0..block.first).rev().take_while(|&line| self.lines[line].trim().starts_with("#["));
        let derive = attributes.into_iter().find(|&line| self.lines[line].trim().starts_with("#[derive("));
        let line = &mut self.lines[derive.ok_or_else(|| format!("`{name}` derives nothing"))?];
        for (known, new) in [("Default", "Default"), ("Sparse", "dwell::Sparse")] {
            if !line.contains(known) {
                *line = line.replace(")]", &format!(", {new})]"));
            }
        }
        Ok(())
    }
}
