/** Deeper lists and quotations are written as if they were not nested, so that lines do not grow with depth. */
export const MAX_NESTING = 12
