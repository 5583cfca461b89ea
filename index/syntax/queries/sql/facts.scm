; Tables and views are structs, their columns fields.
(create_schema (identifier) @name) @definition.module
(create_table (object_reference name: (identifier) @name) (column_definitions) @body) @definition.struct
(create_table (object_reference name: (identifier) @name)) @definition.struct
(create_view (object_reference name: (identifier) @name) (create_query) @body) @definition.struct
(create_materialized_view (object_reference name: (identifier) @name) (create_query) @body) @definition.struct
(create_type (object_reference name: (identifier) @name) (enum_elements)) @definition.enum
(create_type (object_reference name: (identifier) @name)) @definition.type
(create_function (object_reference name: (identifier) @name) (function_body) @body) @definition.function
; Where the grammar does not know a function's body.
(ERROR . (keyword_create) (keyword_function) . (object_reference name: (identifier) @name) (keyword_returns) . (_) . (_) @body) @definition.function
(create_trigger (keyword_trigger) . (object_reference name: (identifier) @name)) @definition.function
(create_index column: (identifier) @name) @definition.const
(create_sequence (object_reference name: (identifier) @name)) @definition.var
(alter_table (object_reference name: (identifier) @container) (add_column (column_definition name: (identifier) @name) @definition.field))
(column_definition name: (identifier) @name) @definition.field
(cte . (identifier) @name) @definition.struct
(statement) @wrap
(comment) @comment
(marginalia) @comment

(relation (object_reference name: (identifier) @ref.use))
(insert (object_reference name: (identifier) @ref.use))
(update (relation (object_reference name: (identifier) @ref.use)))
(alter_table (object_reference name: (identifier) @ref.use))
(create_index (object_reference name: (identifier) @ref.use))
(column_definition (keyword_references) (object_reference name: (identifier) @ref.use))
(create_trigger (keyword_on) . (object_reference name: (identifier) @ref.use))
(create_trigger [(keyword_function) (keyword_procedure)] . (object_reference name: (identifier) @ref.call))
(invocation (object_reference name: (identifier) @ref.call))
