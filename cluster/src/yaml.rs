//! Objects as the YAML that `kubectl apply -f` reads.

use crate::Object;

/// One document for each object.
pub fn to_yaml(objects: &[Object]) -> String {
    let options = serde_yaml::ser_options! {
        // A long line stays one line: folded ones are hard to compare and to search.
        folded_wrap_chars: usize::MAX,
    };
    serde_yaml::to_string_multiple_with_options(objects, options).expect("objects are plain data, and a string takes every text")
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::api::core::v1::ConfigMap;

    /// Whatever a sweep file's text is, it comes back byte for byte.
    #[test]
    fn every_text_comes_back() {
        let long = "x ".repeat(500);
        let texts = [
            "name: a\n",
            "name: a",
            "\n\n  a: 1\n\n",
            "a: |\n   b\n  \n\n\n",
            "tab:\t1\n",
            "trailing  \nblank \n",
            "a: \u{e9}\u{1f600}\u{a0}\u{2028}\u{85}\n",
            "crlf\r\nline\r\n",
            "yes",
            "12:30:45",
            "0x1F",
            "---\n...\n# comment\n",
            " leading\n",
            "\u{feff}name: b\n",
            "",
            &long,
        ];
        for text in texts {
            let config_map = ConfigMap { data: Some([("sweep.yaml".to_owned(), text.to_owned())].into()), ..ConfigMap::default() };
            let yaml = to_yaml(&[config_map.clone().into()]);
            let read: ConfigMap = serde_yaml::from_str(&yaml).unwrap();
            assert_eq!(read, config_map, "{yaml}");
        }
    }
}
