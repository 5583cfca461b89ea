(function_statement name: (function_name [(table_dot) (table_colon)] (identifier) @name .) @container (function_body) @body) @definition.method
(function_statement name: (function_name [(table_dot) (table_colon)] (identifier) @name .) @container) @definition.method
(function_statement name: (function_name . (identifier) @name .) (function_body) @body) @definition.function
(function_statement name: (identifier) @name (function_body) @body) @definition.function
(function_statement name: (identifier) @name) @definition.function

(variable_declaration name: (variable_declarator (identifier) @container (identifier) @name .) value: (function (function_body) @body)) @definition.method
(variable_declaration name: (variable_declarator . (identifier) @name .) value: (function (function_body) @body)) @definition.function
(variable_declaration value: (tableconstructor (fieldlist
  (field name: (identifier) @name value: (function (function_body) @body)) @definition.method)))
(module_return_statement (tableconstructor (fieldlist
  (field name: (identifier) @name value: (function (function_body) @body)) @definition.method)))
; A class is a table that is said to be one, becomes a metatable in the next statement,
; or is made with one.
(program (comment) @_class . (variable_declaration name: (variable_declarator . (identifier) @name .) value: (tableconstructor) @body) @definition.class
  (#match? @_class "@class"))
(program (variable_declaration name: (variable_declarator . (identifier) @name .) value: (tableconstructor) @body) @definition.class
  . (variable_declaration name: (variable_declarator . (identifier) @_same . (identifier) @_index .))
  (#eq? @_same @name) (#eq? @_index "__index"))
(program (variable_declaration name: (variable_declarator . (identifier) @name .) value: (tableconstructor) @body) @definition.class
  . (function_call prefix: (identifier) @_set args: (function_arguments . (identifier) @_same))
  (#eq? @_same @name) (#eq? @_set "setmetatable"))
(program (variable_declaration name: (variable_declarator . (identifier) @name .) value: (function_call prefix: (identifier) @_set
    args: (function_arguments . (tableconstructor) . (tableconstructor (fieldlist (field name: (identifier) @_index)))))) @definition.class
  (#eq? @_set "setmetatable") (#eq? @_index "__index"))
(program (variable_declaration name: (variable_declarator . (identifier) @name .)
    value: (function_call (self_call_colon) . (identifier) @_extend)) @definition.class
  (#eq? @_extend "extend"))
((function_call prefix: (identifier) @_set args: (function_arguments . (identifier) @name . (tableconstructor))) @scope
  (#eq? @_set "setmetatable"))

(program (variable_declaration name: (variable_declarator . (identifier) @name .) value: (tableconstructor) @body) @definition.const
  (#match? @name "^\\s*_*[A-Z][A-Z0-9_]+$"))
(program (variable_declaration name: (variable_declarator . (identifier) @name .)) @definition.const
  (#match? @name "^\\s*_*[A-Z][A-Z0-9_]+$"))
(program (variable_declaration name: (variable_declarator . (identifier) @name .) value: (tableconstructor) @body) @definition.var)
(program (variable_declaration name: (variable_declarator . (identifier) @name .)) @definition.var)
(program (variable_declaration name: (variable_declarator . (identifier) @container . (identifier) @name .) value: (tableconstructor) @body) @definition.field)
(program (variable_declaration name: (variable_declarator . (identifier) @container . (identifier) @name .)) @definition.field
  (#not-eq? @name "__index"))
(comment) @comment

(variable_declaration name: (variable_declarator . (identifier) @import.alias .)
  value: (function_call prefix: (identifier) @_require args: (_) @import.path) @import (#eq? @_require "require"))
((function_call prefix: (identifier) @_require args: (_) @import.path) @import (#eq? @_require "require"))

((function_call . prefix: (identifier) @ref.call . [(function_call_paren) (string_argument) (table_argument)]) (#not-eq? @ref.call "require"))
(function_call prefix: (identifier) @qualifier . prefix: "." . prefix: (identifier) @ref.call . [(function_call_paren) (string_argument) (table_argument)])
(function_call prefix: (identifier) @qualifier . (self_call_colon) . (identifier) @ref.call)
((function_call prefix: (identifier) @ref.inherit . (self_call_colon) . (identifier) @_extend) (#eq? @_extend "extend"))
((function_call prefix: (identifier) @_set args: (function_arguments (tableconstructor (fieldlist (field name: (identifier) @_index value: (identifier) @ref.inherit)))))
  (#eq? @_set "setmetatable") (#eq? @_index "__index"))
