/** What a declaration declares. */
export type DeclarationKind =
  | 'function'
  | 'class'
  | 'interface'
  | 'type'
  | 'variable'
  | 'enum'
  | 'namespace'
  | 'method'
  | 'property'
  | 'constructor'
  /** An object that can be called itself. */
  | 'call'

/** Something that a module declares, or a member of it. Overloads are separate declarations of one name. */
export interface Declaration {
  readonly kind: DeclarationKind
  readonly name: string
  /** Text of its doc comment, without comment marks; empty if there is none. */
  readonly doc: string
  /** Its source without body and members, on one line. */
  readonly signature: string
  /** Line in the file, from 0. */
  readonly line: number
  /** Null for anything that cannot be called. */
  readonly parameters: readonly Parameter[] | null
  /** Type of a variable or property, value of a type alias, result of a function; empty if it is not written. */
  readonly type: string
  /** Types that a class or interface extends or implements, as written. */
  readonly heritage: readonly string[]
  readonly members: readonly Declaration[]
  /** Names that a namespace exports without declaring them: `export type { A }`. @default none */
  readonly exports?: readonly ModuleExport[]
  readonly isStatic: boolean
}

/** A parameter of a function. */
export interface Parameter {
  /** Its name; a destructured parameter has its source. */
  readonly name: string
  readonly type: string
  readonly isOptional: boolean
  readonly isRest: boolean
}

/** What the text of a module declares, imports and exports. */
export interface ModuleText {
  /** All declarations of the top level, exported or not. */
  readonly declarations: readonly Declaration[]
  readonly exports: readonly ModuleExport[]
  /** Modules of which everything is exported: `export * from './a'`. */
  readonly exportsAllOf: readonly string[]
  readonly imports: readonly ModuleImport[]
  /** Name that is the whole module: `export = name`; null if there is none. */
  readonly exportEquals: string | null
  /** Modules declared by name: `declare module 'fs' { … }`. */
  readonly ambientModules: ReadonlyMap<string, ModuleText>
}

/** A name that a module exports. */
export interface ModuleExport {
  /** `default` for the default export. */
  readonly name: string
  /** Name in this module or in the module it comes from; `*` for all names of that module as one object. */
  readonly local: string
  /** Module it comes from; null for this module. */
  readonly from: string | null
}

/** A name that a module imports. */
export interface ModuleImport {
  readonly local: string
  /** Name in the other module; `default`, or `*` for all of it as one object. */
  readonly name: string
  readonly from: string
}
