package mcp

import "encoding/json"

// repositoryArgument is added to every tool here.
const repositoryArgument = `{"type": "string", "description": "another repository: its folder, a path in it, or the name of one that is open; left out, the one you work in"}`

// withRepository is a tool's schema with that argument.
func withRepository(parameters json.RawMessage) (json.RawMessage, error) {
	var schema, properties map[string]json.RawMessage
	if err := json.Unmarshal(parameters, &schema); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(schema["properties"], &properties); err != nil {
		return nil, err
	}
	properties["repository"] = json.RawMessage(repositoryArgument)
	raw, err := json.Marshal(properties)
	if err != nil {
		return nil, err
	}
	schema["properties"] = raw
	return json.Marshal(schema)
}

// takeRepository takes that argument out of a call's. What is no object is left to the tool
// to refuse.
func takeRepository(arguments json.RawMessage) (repository string, rest json.RawMessage) {
	var given map[string]json.RawMessage
	if json.Unmarshal(arguments, &given) != nil || given["repository"] == nil {
		return "", arguments
	}
	if json.Unmarshal(given["repository"], &repository) != nil {
		repository = string(given["repository"])
	}
	delete(given, "repository")
	rest, err := json.Marshal(given)
	if err != nil {
		return repository, arguments
	}
	return repository, rest
}
