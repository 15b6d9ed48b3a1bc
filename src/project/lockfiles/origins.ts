/* Why a package has no version in a registry. */
export const FROM_FOLDER = 'it is a folder or file, not a package of a registry'
export const FROM_GIT = 'it comes from a repository, not from a registry'
export const FROM_URL = 'it comes from a web address, not from a registry'
