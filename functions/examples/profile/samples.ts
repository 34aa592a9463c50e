import orders from '../samples/orders.csv.gz';

/** The datasets shipped inside the bundle, gzipped. The only module that needs the bundler's `.gz` loader. */
export const samples: Readonly<Record<string, Uint8Array>> = { orders };
