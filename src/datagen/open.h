// How the layers above get a datagen store: opened on a table folder, with the engine beneath it for
// maintenance.
//
// Owner: shared_ptr. Threads: any. Failure: as table::LsmTable::open_or_create.
#pragma once

#include <memory>
#include <string>

#include "base/runtime.h"
#include "io/object_store.h"
#include "sheafdb/datagen.h"
#include "table/lsm_table.h"

namespace sheaf::datagen {

/// Key event_id (immutable), rows clustered by root item, item, item_seq; with the write-time rules of
/// docs/datagen.md.
table::StoreKind datagen_kind();

/// `store` is rooted at the table's folder; `uri` is what users see.
Result<std::shared_ptr<DatagenStore>> open_datagen_store(Runtime runtime, io::ObjectStorePtr store,
                                                         std::string name, std::string uri,
                                                         table::LsmOptions options);

/// The engine beneath a store that open_datagen_store() returned.
std::shared_ptr<table::LsmTable> table_of(const DatagenStore& store);

}  // namespace sheaf::datagen
