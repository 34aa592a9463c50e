import orders from '../../samples/orders.csv.gz';
import type { ProfileArguments } from '../definition.ts';

/** The datasets shipped inside the bundle, gzipped. The only module that needs the bundler's `.gz` loader. */
export const samples: Readonly<Record<NonNullable<ProfileArguments['sample']>, Uint8Array>> = { orders };
