; A block is named by its last label; the ones before are its container.
((block (identifier) @_kind . (string_lit (template_literal) @name) . (block_start) @body) @definition.module (#eq? @_kind "module"))
((block (identifier) @_kind . (string_lit (template_literal) @name) . (block_start) @body) @definition.var
  (#any-of? @_kind "variable" "output"))
(block (string_lit (template_literal) @container) . (string_lit (template_literal) @name) . (block_start) @body) @definition.struct
(config_file (body (block . (identifier) . (string_lit (template_literal) @name) . (block_start) @body) @definition.section))
(config_file (body (block . (identifier) @name . (block_start) @body) @definition.section))
((block . (identifier) @_locals (body (attribute . (identifier) @name) @definition.var)) (#eq? @_locals "locals"))
(config_file (body (attribute . (identifier) @name) @definition.var))
(comment) @comment

((block (identifier) @_module (body (attribute . (identifier) @_source (expression (literal_value (string_lit (template_literal) @import.path)))) @import))
  (#eq? @_module "module") (#eq? @_source "source"))

(function_call . (identifier) @ref.call)
(expression (variable_expr (identifier) @qualifier) . (get_attr (identifier) @ref.use))
