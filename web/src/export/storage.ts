/** The browser's own storage for files. */

/** A folder of it, made where it is not there yet. */
export async function storageFolder(name: string): Promise<FileSystemDirectoryHandle> {
  const root = await navigator.storage.getDirectory();
  return root.getDirectoryHandle(name, { create: true });
}

export async function removeStored(folder: string, name: string): Promise<void> {
  try {
    await (await storageFolder(folder)).removeEntry(name);
  } catch {
    // It was not there, or is being read: the next clearing takes it.
  }
}

export async function storedNames(folder: string): Promise<string[]> {
  const names: string[] = [];
  for await (const name of (await storageFolder(folder)).keys()) names.push(name);
  return names;
}

/** A file in the storage, or null where it is not there. */
export async function storedFile(folder: string, name: string): Promise<File | null> {
  try {
    return await (await (await storageFolder(folder)).getFileHandle(name)).getFile();
  } catch {
    return null;
  }
}
