import type { Kind } from '../../../src/core/model.ts'

/** What people call a kind; the others are called what they are. */
const NAMES: Readonly<Partial<Record<string, string>>> = {
  java_script: 'JavaScript, TypeScript',
  html: 'HTML',
  json: 'JSON',
  c: 'C',
  cpp: 'C++',
  unknown: 'Other text',
} satisfies Partial<Record<Kind, string>>

/** A kind for people: `JavaScript, TypeScript`, `Markdown`. */
export function nameOfKind(kind: string): string {
  return NAMES[kind] ?? kind.charAt(0).toUpperCase() + kind.slice(1)
}
