const KEYS = /\+\+([a-z\d"-]{1,30}(?:\+[a-z\d"-]{1,30}){0,5})\+\+/iy
const KEY_NAMES =
  /^(?:ctrl|control|alt|option|shift|cmd|command|meta|super|win|windows|enter|return|esc|escape|tab|space|backspace|delete|del|insert|home|end|page-(?:up|down)|(?:arrow-)?(?:up|down|left|right)|f\d{1,2}|caps-lock|print-screen)$/i

/** Parses keys to press at an offset, as PyMdown writes them: `++ctrl+alt+del++`. */
export function readKeys(text: string, at: number): { readonly text: string; readonly end: number } | undefined {
  KEYS.lastIndex = at
  const [source = '', keys = ''] = KEYS.exec(text) ?? []
  const names = keys.split('+')
  if (!KEY_NAMES.test(names[0] ?? '')) return undefined
  return { text: names.map((key) => key.charAt(0).toUpperCase() + key.slice(1)).join('+'), end: at + source.length }
}
