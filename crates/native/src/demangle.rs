//! Names without the linker's code for types.

/// A function or variable as people call it: C++ names without the linker's code for types.
pub fn short_name(symbol: &str) -> String {
    // Without the prefix any C name may read as a type: `f` is `float`.
    let mangled = symbol.starts_with("_Z").then(|| cpp_demangle::Symbol::new(symbol));
    let Some(Ok(name)) = mangled else { return symbol.to_owned() };
    let options = cpp_demangle::DemangleOptions::new().no_params().no_return_type();
    match name.demangle_with_options(&options) {
        Ok(name) if name.len() <= 60 => name,
        Ok(name) if name.contains("_M_run") || name.contains("_State_impl") => "std::thread".to_owned(),
        Ok(name) => name.chars().take(57).chain("…".chars()).collect(),
        Err(_) => symbol.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::short_name;

    #[test]
    fn names_of_the_linker_become_those_of_people() {
        assert_eq!(short_name("_ZN3net6Server3runEv"), "net::Server::run");
        assert_eq!(short_name("_ZGVZL5owneriE1o"), "guard variable for owner(int)::o");
        assert_eq!(short_name("f"), "f");
    }
}
