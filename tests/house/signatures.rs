//! Rules for signatures: no parameter is a tuple, and no result holds a result. A type with named fields, or an enum,
//! says what a tuple keeps to itself. How many parameters a function may have, `clippy.toml` says.

use syn::visit::{self, Visit};

use super::circles::{is_test_code, source_files};
use super::source_rules::repo_root;

/// Faults of the signatures in one file, each as the name of its function with what is wrong.
#[derive(Default)]
struct SignatureFaults(Vec<String>);

impl<'ast> Visit<'ast> for SignatureFaults {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if !is_test_code(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_signature(&mut self, signature: &'ast syn::Signature) {
        let parameters = signature.inputs.iter().filter_map(|input| match input {
            syn::FnArg::Typed(parameter) => Some(&parameter.ty),
            syn::FnArg::Receiver(_) => None,
        });
        for parameter in parameters {
            if is_tuple(parameter) {
                self.0.push(format!("{} takes a tuple", signature.ident));
            }
        }
        if let syn::ReturnType::Type(_, result) = &signature.output
            && is_nested_result(result)
        {
            self.0
                .push(format!("{} gives a result in a result", signature.ident));
        }
    }
}

/// Whether a type is a tuple of several members, or a reference to one.
fn is_tuple(parameter: &syn::Type) -> bool {
    match parameter {
        syn::Type::Tuple(tuple) => tuple.elems.len() > 1,
        syn::Type::Reference(reference) => is_tuple(&reference.elem),
        _ => false,
    }
}

fn is_nested_result(result: &syn::Type) -> bool {
    result_arguments(result).is_some_and(|arguments| {
        arguments.args.iter().any(|argument| match argument {
            syn::GenericArgument::Type(inner) => result_arguments(inner).is_some(),
            _ => false,
        })
    })
}

fn result_arguments(of: &syn::Type) -> Option<&syn::AngleBracketedGenericArguments> {
    let syn::Type::Path(path) = of else {
        return None;
    };
    let last = path.path.segments.last()?;
    match &last.arguments {
        syn::PathArguments::AngleBracketed(arguments) if last.ident == "Result" => Some(arguments),
        _ => None,
    }
}

fn find_faults(source: &str) -> Vec<String> {
    let mut faults = SignatureFaults::default();
    faults.visit_file(&syn::parse_file(source).unwrap());
    faults.0
}

#[test]
fn signatures_name_what_they_take_and_give() {
    let crates = repo_root().join("src-tauri");
    let mut faults = Vec::new();
    for file in source_files(&crates) {
        let found = find_faults(&std::fs::read_to_string(&file).unwrap());
        faults.extend(
            found
                .iter()
                .map(|fault| format!("{}: {fault}", file.display())),
        );
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn faults_of_signatures_are_found() {
    for (source, expected) in [
        (
            "fn plain(a: u8, b: &str, unit: ()) -> Result<u8, ()> {}",
            None,
        ),
        ("fn pair((a, b): (u8, u8)) {}", Some("pair takes a tuple")),
        ("fn lent(both: &(u8, u8)) {}", Some("lent takes a tuple")),
        (
            "trait T { async fn nested(&self) -> Result<Result<u8, ()>, ()>; }",
            Some("nested gives a result in a result"),
        ),
    ] {
        assert_eq!(find_faults(source).first().map(String::as_str), expected);
    }
}
