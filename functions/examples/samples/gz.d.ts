/** The bundler embeds `.gz` files as bytes (esbuild: `loader: { '.gz': 'binary' }`). */
declare module '*.gz' {
  const bytes: Uint8Array;

  // biome-ignore lint/style/noDefaultExport: how esbuild hands over an embedded file.
  export { bytes as default };
}
