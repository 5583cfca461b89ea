(package (full_ident) @name) @definition.module
(message (message_name) @name (message_body) @body) @definition.struct
(enum (enum_name) @name (enum_body) @body) @definition.enum
(service (service_name) @name . "{" @body) @definition.interface
(rpc (rpc_name) @name) @definition.method
(field (identifier) @name) @definition.field
(map_field (identifier) @name) @definition.field
(oneof . (identifier) @name "{" @body) @definition.field
(oneof_field (identifier) @name) @definition.field
(enum_field . (identifier) @name) @definition.field
(comment) @comment

(import path: (string) @import.path) @import

(message_or_enum_type (identifier) @ref.use)
