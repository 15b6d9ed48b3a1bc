/** Thrown for an archive that cannot be used; the message follows "cannot be used: ". */
export class ArchiveError extends Error {
  override readonly name = 'ArchiveError'
  /** Advice for the user. */
  readonly advice: string
  readonly isEncrypted: boolean

  constructor(message: string, { advice = REFETCH_ADVICE, isEncrypted = false, ...options }: ArchiveErrorOptions = {}) {
    super(message, options)
    this.advice = advice
    this.isEncrypted = isEncrypted
  }
}

interface ArchiveErrorOptions extends ErrorOptions {
  readonly advice?: string | undefined
  readonly isEncrypted?: boolean
}

const REFETCH_ADVICE = 'get the archive again, or name another one'
/** Advice for an archive of an unsupported or unexpected format. */
export const FORMAT_ADVICE =
  'supported archives end in .zip, .tar, .tar.gz, .tgz or .tar.zst; unpack it, and name the folder'

/** The error for an archive that ends too early. */
export function createTruncatedError(cause?: unknown): ArchiveError {
  return new ArchiveError('it is cut off', { cause })
}

/** The error for an invalid archive. */
export function createDamagedError(cause?: unknown): ArchiveError {
  return new ArchiveError('it is damaged', { cause })
}

/** The error for an archive that is too large. */
export function createTooLargeError(maxBytes: number): ArchiveError {
  const advice = 'allow more with maxArchiveBytes, or name another archive'
  return new ArchiveError(`it has more than ${maxBytes} bytes when unpacked (maxArchiveBytes)`, { advice })
}
