/** Sets an entry, and drops the one that was set the longest ago if there are more than `most`. */
export function setBounded<K, V>(map: Map<K, V>, key: K, value: V, most: number): void {
  // Moves it to the end of the map: the first entry is the oldest.
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > most && oldest !== undefined) map.delete(oldest);
}
