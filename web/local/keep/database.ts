/** These names are part of the format: changing one makes the existing indexes unreachable. */
const DATABASE = 'llmx-ingestor'
const VERSION = 1
const STORE = 'indexes'

/** Records by their `id`. */
export interface Database<T> {
  all(): Promise<T[]>
  get(id: string): Promise<T | undefined>
  /** Resolves when the record is on disk. */
  put(record: T): Promise<void>
  remove(id: string): Promise<void>
}

/** Opens the database; rejects with the error of the browser if it is unavailable. `onClosed` is called when it must be opened again. */
export async function openDatabase<T extends { readonly id: string }>(onClosed: () => void): Promise<Database<T>> {
  const opening = indexedDB.open(DATABASE, VERSION)
  opening.onupgradeneeded = () => opening.result.createObjectStore(STORE, { keyPath: 'id' })
  const database = await requestResult(opening)
  // A newer version of this page in another tab wants to upgrade or delete the database.
  database.onversionchange = () => {
    database.close()
    onClosed()
  }
  // The browser has cleared the data of this page.
  database.onclose = onClosed
  const read = () => database.transaction(STORE).objectStore(STORE)
  const write = async (work: (store: IDBObjectStore) => void) => {
    const transaction = database.transaction(STORE, 'readwrite', { durability: 'strict' })
    work(transaction.objectStore(STORE))
    await transactionEnd(transaction)
  }
  return {
    all: () => requestResult<T[]>(read().getAll()),
    get: (id) => requestResult<T | undefined>(read().get(id)),
    put: (record) => write((store) => store.put(record)),
    remove: (id) => write((store) => store.delete(id)),
  }
}

function requestResult<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
}

function transactionEnd(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve()
    transaction.onerror = () => reject(transaction.error)
    transaction.onabort = () => reject(transaction.error)
  })
}
