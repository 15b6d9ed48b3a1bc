import type { DeclarationKind } from './declaration.ts'

type TypeScriptKind = Extract<DeclarationKind, 'function' | 'class' | 'interface' | 'type' | 'enum' | 'namespace'>

/** What the nodes of the syntax tree of TypeScript declare, except for variables. */
export const TYPESCRIPT_KINDS: Readonly<Record<string, TypeScriptKind>> = {
  function_signature: 'function',
  function_declaration: 'function',
  generator_function_declaration: 'function',
  class_declaration: 'class',
  abstract_class_declaration: 'class',
  class: 'class',
  interface_declaration: 'interface',
  type_alias_declaration: 'type',
  enum_declaration: 'enum',
  internal_module: 'namespace',
  module: 'namespace',
}
