/** The names are part of the format: whoever looks for the indexes finds them here. */
const DATABASE = 'llmx-ingestor'
const VERSION = 1
const STORE = 'indexes'

/** Records by their `id`. */
export interface Database<T> {
  all(): Promise<T[]>
  get(id: string): Promise<T | undefined>
  /** Returns when it is on the disk. */
  put(record: T): Promise<void>
  remove(id: string): Promise<void>
}

/** Opens the database; rejects with the browser's error where there is none to be had. `onClosed` is told when it has to be opened anew. */
export async function openDatabase<T extends { readonly id: string }>(onClosed: () => void): Promise<Database<T>> {
  const opening = indexedDB.open(DATABASE, VERSION)
  opening.onupgradeneeded = () => opening.result.createObjectStore(STORE, { keyPath: 'id' })
  const database = await answerOf(opening)
  // A later version of this page, in another tab, may bring the database further, or somebody deletes it.
  database.onversionchange = () => {
    database.close()
    onClosed()
  }
  // The browser clears the data of this page.
  database.onclose = onClosed
  const read = () => database.transaction(STORE).objectStore(STORE)
  const write = async (work: (store: IDBObjectStore) => void) => {
    const transaction = database.transaction(STORE, 'readwrite', { durability: 'strict' })
    work(transaction.objectStore(STORE))
    await endOf(transaction)
  }
  return {
    all: () => answerOf<T[]>(read().getAll()),
    get: (id) => answerOf<T | undefined>(read().get(id)),
    put: (record) => write((store) => store.put(record)),
    remove: (id) => write((store) => store.delete(id)),
  }
}

function answerOf<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
}

function endOf(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve()
    transaction.onerror = () => reject(transaction.error)
    transaction.onabort = () => reject(transaction.error)
  })
}
