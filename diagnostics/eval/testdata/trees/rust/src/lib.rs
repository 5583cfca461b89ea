/// A list of names.
pub struct Names {
    list: Vec<String>,
}

impl Names {
    pub fn count(&self) -> usize {
        self.list.len()
    }

    pub fn first(&self) -> Option<&str> {
        self.list.first().map(|name| name.as_str())
    }
}
