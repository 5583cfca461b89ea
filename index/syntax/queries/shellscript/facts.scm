(function_definition name: (word) @name body: (_) @body) @definition.function
((program (declaration_command (variable_assignment name: (variable_name) @name value: (array) @body)) @definition.var))
((program (declaration_command "readonly" (variable_assignment name: (variable_name) @name)) @definition.const))
((program (declaration_command (variable_assignment name: (variable_name) @name)) @definition.var))
(program (variable_assignment name: (variable_name) @name) @definition.var)
(comment) @comment

((command name: (command_name) @_source argument: (_) @import.path) @import (#any-of? @_source "source" "."))

((command_name (word) @ref.call) (#not-any-of? @ref.call "source" "." "echo" "printf" "cd" "set" "return" "exit" "shift" "test" "["
  "true" "false" "read" "trap" "eval" "exec" "break" "continue" "wait" "kill" "grep" "sed" "awk" "cat" "rm" "mkdir" "mv" "cp" ":"))
