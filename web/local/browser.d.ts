// Browser APIs that the DOM types of TypeScript do not declare.
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
