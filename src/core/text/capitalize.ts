/** A word with its first letter in upper case. */
export function capitalize(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}

/** A message as a sentence: capital first, full stop last. An address at the beginning stays as it is. */
export function writeSentence(message: string): string {
  const start = /^\w+:\/\//.test(message) ? message : capitalize(message)
  return message === '' || /[.!?]$/.test(message) ? start : `${start}.`
}
