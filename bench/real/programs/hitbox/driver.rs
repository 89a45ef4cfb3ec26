//! A cache of two layers, both in memory: each entry is found in the second layer once, and then in the first.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use hitbox_backend::composition::CompositionBackend;
use hitbox_backend::format::{Format, JsonFormat};
use hitbox_backend::{
    Backend, BackendResult, CacheBackend, CacheKeyFormat, Compressor, DeleteStatus, PassthroughCompressor,
};
use hitbox_core::{
    BackendLabel, BoxContext, CacheContext, CacheKey, CachePolicy, CacheStatus, CacheValue, CacheableResponse,
    EntityPolicyConfig, Offload, Predicate, Raw, ResponseCachePolicy, SmolStr, finalize_context,
};

#[derive(Clone, Default)]
struct Layer(Arc<Mutex<HashMap<CacheKey, CacheValue<Raw>>>>);

#[async_trait]
impl Backend for Layer {
    async fn read(&self, key: &CacheKey) -> BackendResult<Option<CacheValue<Raw>>> {
        Ok(self.0.lock().expect("no thread panics").get(key).cloned())
    }

    async fn write(&self, key: &CacheKey, value: CacheValue<Raw>) -> BackendResult<()> {
        self.0.lock().expect("no thread panics").insert(key.clone(), value);
        Ok(())
    }

    async fn remove(&self, key: &CacheKey) -> BackendResult<DeleteStatus> {
        let removed = self.0.lock().expect("no thread panics").remove(key).is_some();
        Ok(if removed { DeleteStatus::Deleted(1) } else { DeleteStatus::Missing })
    }

    fn value_format(&self) -> &dyn Format {
        &JsonFormat
    }

    fn key_format(&self) -> &CacheKeyFormat {
        &CacheKeyFormat::Bitcode
    }

    fn compressor(&self) -> &dyn Compressor {
        &PassthroughCompressor
    }

    fn label(&self) -> BackendLabel {
        BackendLabel::new_static("layer")
    }
}

impl CacheBackend for Layer {}

#[derive(Clone, Debug)]
struct NoTasks;

impl Offload<'static> for NoTasks {
    fn spawn<F: Future<Output = ()> + Send + 'static>(&self, _kind: impl Into<SmolStr>, _future: F) {
        panic!("a cache in memory starts no task");
    }
}

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
struct User {
    id: u64,
}

impl CacheableResponse for User {
    type Cached = Self;
    type Subject = Self;
    type IntoCachedFuture = std::future::Ready<CachePolicy<Self, Self>>;
    type FromCachedFuture = std::future::Ready<Self>;

    async fn cache_policy<P: Predicate<Subject = Self> + Send + Sync>(
        self,
        _predicate: P,
        _config: &EntityPolicyConfig,
    ) -> ResponseCachePolicy<Self> {
        unreachable!("the driver asks the cache alone")
    }

    fn into_cached(self) -> Self::IntoCachedFuture {
        unreachable!("the driver asks the cache alone")
    }

    fn from_cached(cached: Self) -> Self::FromCachedFuture {
        std::future::ready(cached)
    }
}

async fn requests(keys: &[CacheKey]) -> u64 {
    let (first, second) = (Layer::default(), Layer::default());
    let cache = CompositionBackend::new(first, second.clone(), NoTasks);
    for (id, key) in (0..).zip(keys) {
        let value = CacheValue::new(User { id }, None, None);
        second.set::<User>(key, &value, &mut CacheContext::default().boxed()).await.expect("the layer is in memory");
    }
    let (mut sum, mut hits) = (0, 0);
    for _ in 0..5 {
        for key in keys {
            let mut context: BoxContext = CacheContext::default().boxed();
            let found = cache.get::<User>(key, &mut context).await.expect("the layer is in memory");
            if let Some(user) = found {
                sum += user.data().id;
                if context.read_mode() != Default::default() {
                    cache.set::<User>(key, &user, &mut context).await.expect("the layer is in memory");
                }
            }
            hits += u64::from(finalize_context(context).status == CacheStatus::Hit);
        }
    }
    assert_eq!(hits, 5 * keys.len() as u64, "each request finds its entry");
    sum
}

pub fn workload(name: &str) -> Box<dyn FnMut() -> u64> {
    match name {
        "2,000 requests" => {
            let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
            let keys: Vec<CacheKey> = (0..400).map(|id| CacheKey::from_str("user", &id.to_string())).collect();
            Box::new(move || runtime.block_on(requests(&keys)))
        }
        _ => panic!("no workload {name}"),
    }
}
