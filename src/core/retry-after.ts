/** Milliseconds of a Retry-After header: seconds or a date, RFC 9110 section 10.2.3. Null for anything else. */
export function parseRetryAfter(field: string | null, now: () => number): number | null {
  if (field === null) return null
  if (/^\d{1,12}$/.test(field)) return Number(field) * 1000
  const date = /^[A-Z][a-z]{2,8},? .*\d/.test(field) ? Date.parse(field) : Number.NaN
  return Number.isNaN(date) ? null : Math.max(0, date - now())
}
