declare module 'dynalite' {
  import type { Server } from 'node:http';

  function dynalite(options: {
    /** Folder of the LevelDB; in memory without it. */
    path?: string;
    createTableMs?: number;
    deleteTableMs?: number;
    updateTableMs?: number;
  }): Server;
  export = dynalite;
}
