package completion

// Stops are the strings that end an answer of a model asked with the named
// family ("" goes by the model's name), as every request for it names them.
func Stops(template, model string) []string { return templateFor(template, model).stops() }
