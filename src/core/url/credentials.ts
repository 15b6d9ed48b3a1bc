/**
 * A text that was given for an address, as it may be repeated: without what may be a user name and password, also where it is
 * no address at all.
 */
export function hideCredentials(text: string): string {
  const url = URL.parse(text)
  // In `user:password@host` the name would be taken for a scheme.
  const isWhole = url !== null && /^(?:https?|ftp):$/.test(url.protocol)
  if (isWhole && url.username === '' && url.password === '') return text
  // What stands before a version is a name: nothing in it tells of an address, or of a password.
  if (!isWhole && /^[^:@]*@[^@]*$/.test(text)) return text
  return text.replace(/^((?:https?|ftp):\/*|)[\s\S]*@/i, '$1…@')
}
