import type { Kind } from '../../src/core/model.ts'
import { capitalize } from '../../src/core/text/capitalize.ts'

/** Labels of kinds; all others are their capitalised name. */
const NAMES: Readonly<Partial<Record<string, string>>> = {
  java_script: 'JavaScript, TypeScript',
  html: 'HTML',
  json: 'JSON',
  c: 'C',
  cpp: 'C++',
  unknown: 'Other text',
} satisfies Partial<Record<Kind, string>>

/** The label of a kind: `JavaScript, TypeScript`, `Markdown`. */
export function nameOfKind(kind: string): string {
  return NAMES[kind] ?? capitalize(kind)
}
