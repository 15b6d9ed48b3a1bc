import type { Query } from 'pg'

/** The message of the driver with one row of a copy. */
interface CopyData {
  readonly chunk: Uint8Array
}

/** A copy begins with 11 bytes of signature, 4 of flags, and an extension, of which the length comes first. */
const SIGNATURE_START = 'P'.charCodeAt(0)
const EXTENSION_LENGTH_AT = 15
/** The number of columns that ends a copy. */
const END = -1

/**
 * Creates a query that runs `COPY … TO STDOUT (FORMAT binary)`, and the columns of its rows. The driver reads results as text only, in which
 * bytes take a multiple of their size and time.
 */
export function createCopyQuery(
  QueryClass: typeof Query,
  text: string,
): { readonly query: Query; readonly rows: Promise<Uint8Array[][]> } {
  const found: Uint8Array[][] = []
  const { promise: rows, resolve, reject } = Promise.withResolvers<Uint8Array[][]>()
  const query = new QueryClass(text, (error) => (error ? reject(error) : resolve(found)))
  const handleCopyData = ({ chunk }: CopyData): void => {
    // The server sends each row in a message of its own. The driver reuses the memory of a message.
    const row = readRow(new Uint8Array(chunk))
    if (row) found.push(row)
  }
  return { query: Object.assign(query, { handleCopyData }), rows }
}

/** Reads the columns of a row; a null is empty. */
function readRow(bytes: Uint8Array): Uint8Array[] | undefined {
  const view = new DataView(bytes.buffer)
  // A row begins with the number of its columns, whose first byte is 0.
  let at = bytes[0] === SIGNATURE_START ? EXTENSION_LENGTH_AT + 4 + view.getInt32(EXTENSION_LENGTH_AT) : 0
  // The header can come alone, when there is no row.
  const count = at < bytes.length ? view.getInt16(at) : END
  if (count === END) return undefined
  at += 2
  return Array.from({ length: count }, () => {
    const length = Math.max(0, view.getInt32(at))
    at += 4 + length
    return bytes.subarray(at - length, at)
  })
}
