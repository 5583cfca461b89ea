(function_statement name: (function_name (identifier) @container [(table_dot) (table_colon)] (identifier) @name .) (function_body) @body) @definition.method
(function_statement name: (function_name (identifier) @container [(table_dot) (table_colon)] (identifier) @name .)) @definition.method
(function_statement name: (function_name . (identifier) @name .) (function_body) @body) @definition.function
(function_statement name: (identifier) @name (function_body) @body) @definition.function
(function_statement name: (identifier) @name) @definition.function

(variable_declaration name: (variable_declarator (identifier) @container (identifier) @name .) value: (function (function_body) @body)) @definition.method
(variable_declaration name: (variable_declarator . (identifier) @name .) value: (function (function_body) @body)) @definition.function
(variable_declaration value: (tableconstructor (fieldlist
  (field name: (identifier) @name value: (function (function_body) @body)) @definition.method)))
(module_return_statement (tableconstructor (fieldlist
  (field name: (identifier) @name value: (function (function_body) @body)) @definition.method)))
(program (variable_declaration name: (variable_declarator . (identifier) @name .) value: (tableconstructor) @body) @definition.var)
(program (variable_declaration name: (variable_declarator . (identifier) @name .)) @definition.var)
(comment) @comment

(variable_declaration name: (variable_declarator . (identifier) @import.alias .)
  value: (function_call prefix: (identifier) @_require args: (_) @import.path) @import (#eq? @_require "require"))
((function_call prefix: (identifier) @_require args: (_) @import.path) @import (#eq? @_require "require"))

((function_call . prefix: (identifier) @ref.call . [(function_call_paren) (string_argument) (table_argument)]) (#not-eq? @ref.call "require"))
(function_call prefix: (identifier) @qualifier . prefix: "." . prefix: (identifier) @ref.call . [(function_call_paren) (string_argument) (table_argument)])
(function_call prefix: (identifier) @qualifier . (self_call_colon) . (identifier) @ref.call)
((function_call prefix: (identifier) @_set args: (function_arguments (tableconstructor (fieldlist (field name: (identifier) @_index value: (identifier) @ref.inherit)))))
  (#eq? @_set "setmetatable") (#eq? @_index "__index"))
