/** Looks up names of code in the declarations of the packages that a project has locked. */
export interface CodeChecker {
  /** Rejects if the lock files of the project cannot be read. */
  check(input: CodeInput): Promise<CheckedCode>
}

/** Languages that can be checked. Markdown stands for its code blocks. */
export const CODE_LANGUAGES = ['typescript', 'javascript', 'python', 'markdown'] as const
export type CodeLanguage = (typeof CODE_LANGUAGES)[number]

/** Code to check. */
export interface CodeInput {
  readonly code: string
  readonly language: CodeLanguage
  /** Absolute path of the file. Packages are looked for from its folder. @default a file in the folder of the project */
  readonly path?: string | undefined
}

/** Result of a check. */
export interface CheckedCode {
  /** In the order of the code. */
  readonly places: readonly CheckedPlace[]
  /** What could not be checked, such as code that cannot be parsed. */
  readonly notes: readonly string[]
}

/** One import, member, option or call of the code. */
export interface CheckedPlace {
  readonly kind: 'import' | 'member' | 'option' | 'call'
  /** As written: `z.string`, `retries`, `createServer()`. */
  readonly name: string
  /** Line and column, from 1. */
  readonly line: number
  readonly column: number
  readonly verdict: 'exists' | 'not in this version' | 'unknown'
  /** Package with the version that was asked, such as `zod@4.1.0`; null if it is not known. */
  readonly package: string | null
  /** Address of that package; null if it is not known. */
  readonly address: string | null
  /** Where it is declared, or what lacks it: file of the package and line; or an address of the library. */
  readonly declaredAt: string | null
  /** The nearest name that exists. */
  readonly nearest: string | null
  /** Other versions in the library that have the name. */
  readonly inVersions: readonly string[]
  /** Why it is not in this version or unknown; empty for what exists. */
  readonly why: string
}
