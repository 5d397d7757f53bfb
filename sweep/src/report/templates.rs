//! The templates of all pages and their pictures, and how they look.

use anyhow::{Context, Result};
use minijinja::{AutoEscape, Environment, UndefinedBehavior, syntax::SyntaxConfig};

/// How all pages look.
pub(super) const STYLE: &str =
    concat!(include_str!("../figure/theme.css"), include_str!("../figure/critical_difference.css"), include_str!("style.css"));

/// The templates of all pages and their pictures.
///
/// # Errors
/// When one of them is no template.
pub(super) fn environment() -> Result<Environment<'static>> {
    let mut templates = Environment::new();
    templates.set_auto_escape_callback(|_| AutoEscape::Html);
    templates.set_undefined_behavior(UndefinedBehavior::Strict);
    templates.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build().context("the report's syntax")?);
    let texts = [
        ("report.html", include_str!("report.html.j2")),
        ("compare.html", include_str!("compare.html.j2")),
        ("across.html", include_str!("across.html.j2")),
        ("leaderboard.svg", include_str!("figures/leaderboard.svg.j2")),
        ("lines.svg", include_str!("figures/lines.svg.j2")),
    ];
    for (name, text) in texts {
        templates.add_template(name, text).context("the report's templates")?;
    }
    Ok(templates)
}
