// What browsers have beyond the types of the language's own library.
export {}

declare global {
  interface Window {
    showDirectoryPicker?: (options?: {
      readonly id?: string
      readonly mode?: 'read'
    }) => Promise<FileSystemDirectoryHandle>
  }

  interface DataTransferItem {
    getAsFileSystemHandle?: () => Promise<FileSystemHandle | null>
  }

  interface FileSystemHandle {
    queryPermission?: (options: { readonly mode: 'read' }) => Promise<PermissionState>
    requestPermission?: (options: { readonly mode: 'read' }) => Promise<PermissionState>
  }
}
